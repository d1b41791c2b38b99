"""With torchvision, which other tests are to do without: another processor is chosen where it is."""

import any_torchvision

assert any_torchvision  # imported before transformers looks for what it makes importable
