"""Operations of terms that steps, tapes and derivatives call; see varint/terms."""
