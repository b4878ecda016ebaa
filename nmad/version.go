package nmad

// Version is that of the module, of its programs and of its library for C. Below 1 its interfaces may change.
const Version = "0.1.0"
