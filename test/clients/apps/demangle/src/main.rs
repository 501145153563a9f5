use std::io::{stdin, BufRead};

use symbolic_demangle::demangle;

/// Prints the readable name of each line.
fn main() {
    for line in stdin().lock().lines().map_while(Result::ok) {
        println!("{}", demangle(&line));
    }
}
