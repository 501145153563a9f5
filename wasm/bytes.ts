/** AssemblyScript. Characters of JSON as bytes, and questions about one of them. */

export const QUOTE: u8 = 0x22
export const COMMA: u8 = 0x2c
export const DASH: u8 = 0x2d
export const DOT: u8 = 0x2e
export const SLASH: u8 = 0x2f
export const COLON: u8 = 0x3a
export const AT: u8 = 0x40
export const BRACKET: u8 = 0x5b
export const BACKSLASH: u8 = 0x5c
export const BRACKET_END: u8 = 0x5d
export const UNDERSCORE: u8 = 0x5f
export const BRACE: u8 = 0x7b
export const BRACE_END: u8 = 0x7d

/** Whether these bytes are here. */
export function is(key: usize, name: usize, length: i32): bool {
  for (let i = 0; i < length; i++) if (load<u8>(key + i) != load<u8>(name + i)) return false
  return true
}

export function isLetter(c: u8): bool {
  return (c | 0x20) - 0x61 < 26
}

export function isDigit(c: u8): bool {
  return c - 0x30 < 10
}
