import { demangleCppOrRust } from './cpp-and-rust.ts'
import { demangleSwift, isSwiftName } from './swift.ts'

/** Longer names are templates of templates: no member reads them. */
const MAX_LENGTH = 8 * 1024
const MAX_RESULT_LENGTH = 16 * 1024
/** Itanium C++ and Rust's legacy form, Rust's v0 form, MSVC. A platform may write `_` before each name. */
const CPP_OR_RUST = /^(?:_{1,3}Z|_{1,2}R|\?)/

/**
 * Makes the name of a symbol readable: C++ (Itanium and MSVC), Rust (legacy and v0) and Swift. Other names, such as
 * Objective-C's and C's, stay as they are, and so does a name that cannot be read.
 */
export function demangle(raw: string): string {
  if (raw.length > MAX_LENGTH) return raw
  const name = isSwiftName(raw) ? demangleSwift(raw) : CPP_OR_RUST.test(raw) ? demangleCppOrRust(raw) : undefined
  return name === undefined || name.length > MAX_RESULT_LENGTH ? raw : name
}
