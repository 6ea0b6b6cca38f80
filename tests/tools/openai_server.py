"""An OpenAI-compatible chat server for tests, in a process of its own: `python openai_server.py` prints its port.

What it answers is a script per model name: POST /script/NAME with a JSON list of steps, one per request. A step is an
object; its fields:

- `text`, `calls` ([[name, arguments], ...]), `finish`, `usage` (false: none; an object: as it is): a reply
- `status`, `headers`, `code`, `param`, `message`: an error reply
- `delay`: seconds before the answer; `drip`: seconds between the bytes of the body
- `cut`: send only so many bytes of the body (of the stream: so many chunks), then close
- `raw`: this body instead of a reply

Without a step left it plays a small agent by itself (see `_play`). GET /requests/NAME gives the requests so far.
A request with "stream": true is answered as server-sent events.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
SCRIPTS: dict[str, list[dict]] = {}
REQUESTS: dict[str, list[dict]] = {}
COUNT = itertools.count(1)


def _play(request: dict) -> dict:
    """Load the first skill on offer, then answer; propose "Use the tip." when asked to reflect; never learn online."""
    messages = request["messages"]
    last = messages[-1].get("content") or ""
    if "<component>" in last:
        component = last.split("<component>")[1].split("</component>")[0].strip()
        skill = json.loads(last.split("<skill>")[1].split("</skill>")[0])
        old = skill["components"][component].rstrip()
        return {
            "text": json.dumps({"component": component, "text": f"{old}\n3. Use the tip.", "rationale": "it helps"})
        }
    if messages[-1]["role"] == "tool":
        # Every answer is another one, so that only a recording can repeat it.
        return {"text": f"answer {next(COUNT)}: " + ("I use the tip" if "Use the tip" in last else "I do not know")}
    tools = {tool["function"]["name"] for tool in request.get("tools") or ()}
    if "skill_load" in tools:
        name = messages[0]["content"].split("\n- ")[-1].split(":")[0]
        return {"calls": [["skill_load", json.dumps({"name": name})]]}
    return {"text": json.dumps({"action": "skip", "reason": f"nothing new ({next(COUNT)})"})}


def _size(value: object) -> int:
    return max(1, len(json.dumps(value)) // 4)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments: object) -> None:
        pass

    def _body(self) -> dict | list:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")

    def _send(self, status: int, data: bytes, headers: dict[str, str] | None = None, step: dict | None = None) -> None:
        step = step or {}
        self.send_response(status)
        kind = "application/json"
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        data = data[: step.get("cut", len(data))]
        if "drip" in step:
            for index in range(len(data)):
                self.wfile.write(data[index : index + 1])
                self.wfile.flush()
                time.sleep(step["drip"])
        else:
            self.wfile.write(data)
        if "cut" in step:
            self.close_connection = True

    def do_GET(self) -> None:
        with LOCK:
            seen = REQUESTS.get(self.path.removeprefix("/requests/"), [])
            self._send(200, json.dumps(seen).encode())

    def do_POST(self) -> None:
        body = self._body()
        if self.path.startswith("/script/"):
            with LOCK:
                SCRIPTS[self.path.removeprefix("/script/")] = list(body)
            self._send(200, b"{}")
            return
        name = body["model"]
        with LOCK:
            REQUESTS.setdefault(name, []).append({**body, "authorization": self.headers.get("Authorization")})
            steps = SCRIPTS.get(name)
            step = steps.pop(0) if steps else _play(body)
        try:
            self._answer(body, step)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client went away, as it should after its deadline

    def _answer(self, request: dict, step: dict) -> None:
        time.sleep(step.get("delay", 0))
        if "status" in step:
            error = {
                "message": step.get("message", "scripted failure"),
                "type": "error",
                "code": step.get("code"),
                "param": step.get("param"),
            }
            self._send(step["status"], json.dumps({"error": error}).encode(), step.get("headers"), step)
        elif "raw" in step:
            self._send(200, step["raw"].encode(), None, step)
        elif request.get("stream"):
            self._stream(request, step)
        else:
            self._send(200, json.dumps(self._reply(request, step)).encode(), None, step)

    def _reply(self, request: dict, step: dict) -> dict:
        message: dict = {"role": "assistant", "content": step.get("text")}
        calls = [
            {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for index, (name, arguments) in enumerate(step.get("calls", ()))
        ]
        if calls:
            message["tool_calls"] = calls
        finish = step.get("finish", "tool_calls" if calls else "stop")
        reply = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
        usage = step.get("usage", self._usage(request, message))
        return {**reply, "usage": usage} if usage is not False else reply

    def _usage(self, request: dict, message: dict) -> dict:
        prompt, completion = _size(request["messages"]), _size(message)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        }

    def _stream(self, request: dict, step: dict) -> None:
        reply = self._reply(request, step)
        message = reply["choices"][0]["message"]
        text = message["content"] or ""
        deltas: list[dict] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": text[at : at + 4]} for at in range(0, len(text), 4)]
        for index, call in enumerate(message.get("tool_calls", ())):
            arguments = call["function"]["arguments"]
            begin = {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
            deltas.append({"tool_calls": [begin]})
            half = len(arguments) // 2
            for part in (arguments[:half], arguments[half:]):
                deltas.append({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
        base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
        chunks: list[dict] = [
            {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        finish = reply["choices"][0]["finish_reason"]
        chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        if "usage" in reply and request.get("stream_options", {}).get("include_usage"):
            chunks.append({**base, "choices": [], "usage": reply["usage"]})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for chunk in chunks[: step.get("cut", len(chunks))]:
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.flush()
            time.sleep(step.get("drip", 0))
        if "cut" not in step:
            self.wfile.write(b"data: [DONE]\n\n")


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()
