package raw
