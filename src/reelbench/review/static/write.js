// The page write.
