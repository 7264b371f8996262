"""From frames to what people read: tables, figures, and one page that holds them all."""
