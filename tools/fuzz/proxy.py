"""A network that can be cut: ``python -m tools.fuzz.proxy TO_PORT`` prints its port."""

import socket
import sys
import threading
from contextlib import suppress


def forward(source, sink):
    """Copy bytes until either side is closed."""
    try:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
    finally:
        for end in (source, sink):  # closing alone would not wake the other direction
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def main(to_port):
    """Serve until the process is killed, which cuts every connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            near, _ = server.accept()
            far = socket.create_connection(("127.0.0.1", to_port))
            for pair in ((near, far), (far, near)):
                threading.Thread(target=forward, args=pair, daemon=True).start()


if __name__ == "__main__":
    main(int(sys.argv[1]))
