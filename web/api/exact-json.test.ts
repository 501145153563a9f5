import { expect, test } from 'vitest'
import { exactJson } from './exact-json.ts'

test.each(['12345678901234567890', '{"far":1e400,"one":1.0,"minus":-0,"n":[0.10,42],"word":"1.0"}', '"1.0"', 'null'])(
  'numbers are shown as they are stored: %s',
  (text) => {
    expect(JSON.stringify(exactJson(text))).toBe(text)
  },
)
