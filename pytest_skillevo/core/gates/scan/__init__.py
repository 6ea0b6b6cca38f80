"""What the safety gate looks for, one kind of danger a module; the gate itself puts their hits together."""
