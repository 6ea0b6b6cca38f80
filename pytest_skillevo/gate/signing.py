"""Ed25519 signatures of evidence files, through the optional package `cryptography`.

The private key comes from the environment and goes nowhere else. What is signed is the digest of the document, which
covers all of it.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from typing import Any, Final

from ..core.errors import ConfigError
from ..core.evidence import body_digest

#: Environment variables with the keys: 32 bytes as base64, or PEM.
PRIVATE_KEY: Final = "SKILLEVO_SIGNING_KEY"
PUBLIC_KEY: Final = "SKILLEVO_PUBLIC_KEY"
_ALGORITHM: Final = "ed25519"
_PREFIX: Final = b"skillevo-evidence-1:"


def sign_if_keyed(document: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """The document, signed when the environment holds a key. Raises ConfigError for a key that is none."""
    text = environment.get(PRIVATE_KEY, "").strip()
    if not text:
        return dict(document)
    key = _private(text)
    signature = key.sign(_PREFIX + body_digest(document).encode("ascii"))
    part = {
        "algorithm": _ALGORITHM,
        "public_key": _base64(key.public_key().public_bytes_raw()),
        "value": _base64(signature),
    }
    return {**document, "signature": part}


def signature_problems(document: Mapping[str, Any], public: str | None) -> list[str]:
    """Why the signature does not show that the holder of the key `public` wrote this file.

    Without a key to compare with, only a broken signature is a problem: anybody can sign with a key of their own.
    """
    part = document.get("signature")
    if part is None:
        return [] if public is None else ["the file is not signed"]
    try:
        given = base64.b64decode(part["public_key"], validate=True)
        value = base64.b64decode(part["value"], validate=True)
        known = part["algorithm"] == _ALGORITHM
    except (KeyError, TypeError, ValueError):
        return ["the signature cannot be read"]
    if not known:
        return [f"the signature is not {_ALGORITHM}"]
    if public is not None and _public(public).public_bytes_raw() != given:
        return ["the file is signed with another key than the one given"]
    from cryptography.exceptions import InvalidSignature

    try:
        _public(_base64(given)).verify(value, _PREFIX + body_digest(document).encode("ascii"))
    except (InvalidSignature, ConfigError):
        return ["the signature does not fit the file"]
    return []


def new_keys() -> tuple[str, str]:
    """A new private and public key, in base64."""
    key = _ed25519().Ed25519PrivateKey.generate()
    return _base64(key.private_bytes_raw()), _base64(key.public_key().public_bytes_raw())


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ConfigError("signatures need the package cryptography: pip install 'pytest-skillevo[sign]'") from None
    return ed25519


def _private(text: str) -> Any:
    module = _ed25519()
    key: Any
    try:
        if "-----BEGIN" in text:
            from cryptography.hazmat.primitives.serialization import load_pem_private_key

            key = load_pem_private_key(text.encode(), password=None)
        else:
            key = module.Ed25519PrivateKey.from_private_bytes(base64.b64decode(text, validate=True))
    except (ValueError, TypeError, binascii.Error):
        key = None
    if not isinstance(key, module.Ed25519PrivateKey):
        # The value is a secret and stays out of the message.
        raise ConfigError(f"{PRIVATE_KEY} holds no Ed25519 private key (32 bytes in base64, or PEM)")
    return key


def _public(text: str) -> Any:
    module = _ed25519()
    key: Any
    try:
        if "-----BEGIN" in text:
            from cryptography.hazmat.primitives.serialization import load_pem_public_key

            key = load_pem_public_key(text.encode())
        else:
            key = module.Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))
    except (ValueError, TypeError, binascii.Error):
        key = None
    if not isinstance(key, module.Ed25519PublicKey):
        raise ConfigError("the public key must be an Ed25519 key (32 bytes in base64, or PEM)")
    return key


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
