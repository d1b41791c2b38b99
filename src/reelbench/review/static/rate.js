// The page rate.
