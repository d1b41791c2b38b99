"""Quality questions with facts for answers: clean clips, damaged by known amounts."""
