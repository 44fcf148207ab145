"""What steps, tapes and derivatives call of terms; see varint/terms."""
