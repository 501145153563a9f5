import { expect, test } from 'vitest'
import { checkCrossSite } from './csrf.ts'

const OURS = ['https://f.example.com', 'https://tools.example.com']

test.each([
  [{ 'sec-fetch-site': 'same-origin' }],
  [{ 'sec-fetch-site': 'none' }],
  [{ origin: 'https://f.example.com' }],
  [{ referer: 'https://f.example.com/issues?x=1' }],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://tools.example.com' }],
  [{}],
])('%j may change things', (headers) => {
  expect(() => checkCrossSite(headers, OURS)).not.toThrow()
})

test.each([
  [{ 'sec-fetch-site': 'cross-site' }],
  [{ 'sec-fetch-site': 'same-site' }],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  [{ origin: 'https://evil.example' }],
  [{ origin: 'null' }],
  [{ origin: 'http://f.example.com' }],
  [{ referer: 'https://f.example.com.evil.example/' }],
  [{ referer: 'nonsense' }],
])('%j may not', (headers) => {
  expect(() => checkCrossSite(headers, OURS)).toThrow('another site')
})
