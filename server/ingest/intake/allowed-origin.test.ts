import { expect, test } from 'vitest'
import { isAllowedOrigin } from './intake.ts'

test.each([
  [[], 'https://any.example', true],
  [['https://shop.example'], undefined, true],
  [['https://shop.example'], 'https://shop.example', true],
  [['https://shop.example/'], 'https://SHOP.example', true],
  [['https://shop.example'], 'http://shop.example', false],
  [['https://shop.example'], 'https://shop.example.evil.example', false],
  [['shop.example'], 'http://shop.example', true],
  [['shop.example'], 'https://evilshop.example', false],
  [['shop.example:8443'], 'https://shop.example:8443', true],
  [['*.shop.example'], 'https://a.b.shop.example', true],
  [['*.shop.example'], 'https://shop.example', false],
  [['https://*.shop.example'], 'https://a.shop.example', true],
  [['https://*.shop.example'], 'http://a.shop.example', false],
  [['*.good.example'], 'https://evil.example/.good.example', false],
  [['*.good.example'], 'https://evil.example?.good.example', false],
  [['*.good.example'], 'https://evil.example#.good.example', false],
  [['*.good.example'], 'https://evil.example\\.good.example', false],
  [['good.example'], 'https://user@good.example', false],
  [['good.example'], 'good.example', false],
  [['*'], 'null', true],
  [['https://shop.example'], 'null', false],
])('%j takes %s: %s', (allowed, origin, expected) => expect(isAllowedOrigin(allowed, origin)).toBe(expected))
