"""What ddSMT runs for each formula it tries: asks the reduction that started it over a socket.

``python -I -S _client.py SOCKET FILE``; exit status 0 says that the file shows the finding, 1 that it
does not, 2 that nobody answered. It stands alone (standard library only) so that it starts in 20 ms.
"""

import os
import socket
import sys


def main() -> int:
    """Ask and pass on the answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        try:
            server.connect(sys.argv[1])
            server.sendall(os.fsencode(os.path.abspath(sys.argv[2])))  # noqa: PTH100 (pathlib takes 10 ms)
            server.shutdown(socket.SHUT_WR)
            answer = server.recv(1)
        except OSError:
            return 2
    return answer[0] - ord("0") if answer in (b"0", b"1") else 2


if __name__ == "__main__":
    sys.exit(main())
