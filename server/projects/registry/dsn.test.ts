import { expect, test } from 'vitest'
import { buildDsn } from './dsn.ts'

const key = '0123456789abcdef0123456789abcdef'

test.each([
  ['http://127.0.0.1:8000', {}, `http://${key}@127.0.0.1:8000/7`],
  ['https://faultline.example.com', {}, `https://${key}@faultline.example.com/7`],
  ['https://example.com/faultline', {}, `https://${key}@example.com/faultline/7`],
  [
    'https://faultline.example.com',
    { 'eu-central-1': 'https://in.eu.example.com:444' },
    `https://${key}@in.eu.example.com:444/7`,
  ],
  [
    'https://faultline.example.com',
    { 'us-east-1': 'https://in.us.example.com' },
    `https://${key}@faultline.example.com/7`,
  ],
])('under %s with %j', (publicUrl, ingestUrls, dsn) => {
  expect(buildDsn({ publicUrl, ingestUrls }, { number: 7, region: 'eu-central-1' }, key)).toBe(dsn)
})
