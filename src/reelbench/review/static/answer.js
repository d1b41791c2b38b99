// The page answer.
