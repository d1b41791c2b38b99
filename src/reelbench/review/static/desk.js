// The organiser's desk.
