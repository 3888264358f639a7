# Sourced by scripts/setup, demo, docs and test: makes .venv once and brings it up to date. Paths that these
# are given are relative to the repository.
# Everything installed is pinned in constraints.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

find_python() {
    local candidate
    for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
        [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "exhume needs Python 3.11 or newer; set PYTHON to one" >&2
    exit 3
}

# A stamp records what was installed, so that a second run starts immediately.
stamp=".venv/.installed"
expected="$(cat pyproject.toml constraints.txt | cksum)"
if [ ! -x .venv/bin/python ]; then
    python="$(find_python)"
    # Without Debian's python3-venv it leaves a folder without pip.
    "$python" -m venv .venv || { rm -rf .venv; exit 3; }
fi
if [ "$(cat "$stamp" 2>/dev/null || true)" != "$expected" ]; then
    echo "installing into .venv, which takes a few minutes ..." >&2
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
        --constraint constraints.txt --editable '.[dev,docs]'
    # On all processors; pip uses only one. Files that do not compile belong to other packages.
    .venv/bin/python -m compileall -q -j 0 .venv/lib >/dev/null || true
    echo "$expected" > "$stamp"
fi
export PATH="$PWD/.venv/bin:$PATH"
# Hunts and tests start hundreds of processes. Without compiled modules each would take half a second longer.
unset PYTHONDONTWRITEBYTECODE
