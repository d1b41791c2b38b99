"""What recipes are composed of; today the linter, which works on anyone's benchmark."""
