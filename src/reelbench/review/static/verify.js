// The page verify.
