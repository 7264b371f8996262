"""What several displays and figures are drawn of; imported when something is drawn."""
