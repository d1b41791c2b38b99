#!/bin/sh
# Writes the locked requirements: the core, the core with the development tools, and the core
# with each extra. The files hold versions and hashes for every platform, and no addresses.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet uv
lock() {
    name=$1
    shift
    "$folder/venv/bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-header --no-annotate --output-file "requirements/$name.txt" pyproject.toml "$@" >/dev/null
    echo "requirements/$name.txt: $(grep -c == "requirements/$name.txt") packages"
}
lock core
# PyTorch is installed apart: its builds differ by machine, and this set serves on any processor.
# There is room for one OpenCV only, or they overwrite each other.
echo "opencv-python-headless; sys_platform == 'none'" > "$folder/one-opencv.txt"
{ echo "torch; sys_platform == 'none'"; cat "$folder/one-opencv.txt"; } > "$folder/no-torch.txt"
lock models --group models --override "$folder/no-torch.txt"
lock dev --group dev
for extra in annotate embed figures hf hub local parquet ray web train inspect; do
    lock "$extra" --extra "$extra" --override "$folder/one-opencv.txt"
done
