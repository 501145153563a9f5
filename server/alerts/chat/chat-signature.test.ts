import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { verifyChatSignature } from './chat-signature.ts'

/** The example of https://docs.slack.dev/authentication/verifying-requests-from-slack. */
const EXAMPLE = {
  secret: '8f742231b10e8888abcd99yyyzzz85a5',
  timestamp: 1531420618,
  body: Buffer.from(
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  ),
  signature: 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
}

const verified = (headers: Record<string, string>, { at = EXAMPLE.timestamp, body = EXAMPLE.body } = {}) =>
  verifyChatSignature({ headers, body }, EXAMPLE.secret, new Date(at * 1000))

test('the published example reproduces, under every name of the headers', () => {
  for (const signature of ['x-chat-signature', 'x-slack-signature'])
    for (const timestamp of ['x-chat-request-timestamp', 'x-chat-timestamp', 'x-slack-request-timestamp']) {
      const headers = { [signature]: EXAMPLE.signature, [timestamp]: String(EXAMPLE.timestamp) }
      expect(verified(headers)?.toString('hex')).toBe(EXAMPLE.signature.slice(3))
      expect(verified(headers, { at: EXAMPLE.timestamp + 300 })).not.toBeNull()
      expect(verified(headers, { at: EXAMPLE.timestamp + 301 })).toBeNull()
      expect(verified(headers, { at: EXAMPLE.timestamp - 300 })).not.toBeNull()
      expect(verified(headers, { at: EXAMPLE.timestamp - 301 })).toBeNull()
      expect(verified(headers, { body: Buffer.concat([EXAMPLE.body, Buffer.from('&')]) })).toBeNull()
    }
})

test('bytes that are not text are signed as they are', () => {
  const body = Buffer.from([0xff, 0x00, 0xfe, 0x80])
  const timestamp = String(EXAMPLE.timestamp)
  const signature = createHmac('sha256', EXAMPLE.secret).update(`v0:${timestamp}:`).update(body).digest('hex')
  const headers = { 'x-chat-signature': `v0=${signature}`, 'x-chat-request-timestamp': timestamp }
  expect(verified(headers, { body })).not.toBeNull()
  expect(verified(headers, { body: Buffer.from(body.toString()) })).toBeNull()
})
