"""A command-line agent for tests: does what its first argument says."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path


def say(**event):
    print(json.dumps(event), flush=True)


def result(answer="done", **usage):
    say(type="result", answer=answer, usage={"input_tokens": 10, "output_tokens": 2, "usd": None, **usage})


def main():
    request = json.loads(sys.stdin.readline())
    deed = sys.argv[1]
    if deed == "work":
        for skill in request["skills"]:
            text = (Path(skill["folder"]) / "SKILL.md").read_bytes().decode("utf-8")
            say(type="skill", name=skill["name"], text=text)
        say(type="tool_call", name="shell", arguments={"command": "lint.py --strict"}, id="1")
        say(type="tool_result", content="ok", id="1")
        say(type="message", role="assistant", content="thinking")
        Path("out").mkdir(exist_ok=True)
        Path("out/answer.txt").write_text(request["prompt"], encoding="utf-8")
        result(f"seed {request['seed']}", usd="0.02")
    elif deed == "tell":  # everything that it can see
        seen = {"env": dict(os.environ), "cwd": str(Path.cwd()), "argv": sys.argv, "request": request}
        seen["home"] = sorted(map(str, Path(os.environ["HOME"]).iterdir()))
        result(json.dumps(seen))
    elif deed == "fail":
        print("quota reached for sk-live-ABCDEFGHIJKLMNOPQRSTUVWX0123456789", file=sys.stderr)
        sys.exit(3)
    elif deed == "hang":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
        Path(sys.argv[2]).write_text(str(child.pid), encoding="utf-8")
        say(type="message", role="assistant", content="so far")
        time.sleep(60)
    elif deed == "flood":
        while True:
            print(json.dumps({"type": "message", "role": "assistant", "content": "x" * 1000}))
    elif deed == "long-line":
        sys.stdout.write("x" * 3_000_000)
        sys.stdout.flush()
        time.sleep(60)
    elif deed == "other-skill":
        say(type="skill", name=request["skills"][0]["name"], digest=hashlib.sha256(b"other").hexdigest())
        result()
    elif deed == "foreign-skill":
        say(type="skill", name="installed-elsewhere", text="x")
        result()
    elif deed == "edit-skill":
        (Path(request["skills"][0]["folder"]) / "SKILL.md").write_text("mine now", encoding="utf-8")
        result()
    elif deed == "take-skill-away":
        shutil.rmtree(request["skills"][0]["folder"])
        result()
    elif deed == "take-all-away":
        shutil.rmtree(request["workspace"])
        result()
    elif deed == "paint":
        print("\x1b[31mred\x1b[0m \u202e", file=sys.stderr)
        sys.exit(1)
    elif deed == "late":
        result()
        time.sleep(60)
    elif deed == "say":
        sys.stdout.write(sys.argv[2])
    elif deed == "lingering":
        result()
        os.close(1)
        time.sleep(60)


main()
