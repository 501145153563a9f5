import { readdirSync, readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import type { SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import { selfSigned } from '#test/kit/certificates.ts'
import { startSmtpReceiver } from '#test/kit/smtp-receiver.ts'
import { renderMail } from './mail-channel.ts'
import { fileMailer } from './file-mailer.ts'
import { smtpMailer } from './smtp-mailer.ts'

const FROM = 'Faultline <faultline@example.com>'
const now = () => new Date('2026-11-20T12:00:00Z')
const mail = {
  to: 'ada@example.com',
  ...renderMail(
    {
      subject: 'Résumé of <b>Ada</b> & co',
      name: 'Ada',
      paragraphs: ['A long line. '.repeat(200), 'Ünïcödé ✓'],
      action: { label: 'Open', url: 'https://faultline.example.com/reset?token=abc' },
    },
    'https://faultline.example.com',
  ),
}

const receivers: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.close()
})

async function aServer(options?: SMTPServerOptions) {
  const receiver = await startSmtpReceiver(options)
  receivers.push(receiver)
  return receiver
}

describe('through a server', () => {
  test('arrives in both forms, as it was written', async () => {
    const { port, received } = await aServer()
    await smtpMailer(`smtp://127.0.0.1:${port}`, FROM, now).send(mail)
    expect(received).toHaveLength(1)
    const [one] = received
    if (one === undefined) throw new Error('nothing arrived')
    const { email, from, to, secure } = one
    expect([from, to, secure]).toEqual(['faultline@example.com', ['ada@example.com'], false])
    expect(email.from).toMatchObject({ name: 'Faultline', address: 'faultline@example.com' })
    expect(email.subject).toBe('Résumé of <b>Ada</b> & co')
    expect(email.text?.trim()).toBe(mail.text.trim())
    expect(email.html).toContain('Résumé of &lt;b&gt;Ada&lt;/b&gt; &amp; co')
    expect(email.html).toContain('https://faultline.example.com/reset?token=abc')
    expect(email.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated')
  })

  test.each([
    '=?utf-8?q?Your_password_expires?=',
    'Ada =?utf-8?q?=45ve?= invites you to =?iso-8859-1?B?RXZl?=',
    `${'=?utf-8?b?RXZl?= '.repeat(12)}Ünïcödé 漢字 😀`.repeat(2),
    '=?',
    'a=?b?=c',
  ])('the subject %.40s arrives as that very text', async (subject) => {
    const { port, received } = await aServer()
    const content = { subject, name: '=?utf-8?q?=45ve?=', paragraphs: ['Hello.'] }
    const rendered = renderMail(content, 'https://faultline.example.com')
    await smtpMailer(`smtp://127.0.0.1:${port}`, FROM, now).send({ to: 'ada@example.com', ...rendered })
    const [one] = received
    expect(one?.email.subject).toBe(subject)
    expect(one?.email.text).toContain('Hello =?utf-8?q?=45ve?=,')
    expect(one?.email.headers.filter(({ key }) => key === 'subject')).toHaveLength(1)
  })

  test('logs in with the user and password of the URL', async () => {
    const seen: string[] = []
    const { port, received } = await aServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username = '', password = '' }, _session, callback) {
        seen.push(`${username}:${password}`)
        callback(password === 'p@ss/word' ? null : new Error('535 wrong'), { user: username })
      },
    })
    await smtpMailer(`smtp://mailer%40example.com:p%40ss%2Fword@127.0.0.1:${port}`, FROM, now).send(mail)
    expect([seen[0], received[0]?.user]).toEqual(['mailer@example.com:p@ss/word', 'mailer@example.com'])
    await expect(smtpMailer(`smtp://a:wrong@127.0.0.1:${port}`, FROM, now).send(mail)).rejects.toMatchObject({
      code: 'EAUTH',
    })
  })

  test('does not trust a self-signed certificate', async () => {
    const { key, cert } = selfSigned({ names: ['localhost'] })
    const { port, received } = await aServer({ secure: true, key, cert })
    await expect(smtpMailer(`smtps://localhost:${port}`, FROM, now).send(mail)).rejects.toThrow(/certificate/i)
    expect(received).toEqual([])
  })

  test.each([
    [421, 'the server is busy'],
    [550, 'no such mailbox'],
  ])('a refusal with %i fails with the code and sentence of the server', async (responseCode, sentence) => {
    const { port } = await aServer({
      onRcptTo(_address, _session, callback) {
        callback(Object.assign(new Error(sentence), { responseCode }))
      },
    })
    const sending = smtpMailer(`smtp://127.0.0.1:${port}`, FROM, now).send(mail)
    await expect(sending).rejects.toMatchObject({ responseCode })
  })

  test('a server that never answers is left when the attempt ends', async () => {
    const { port } = await aServer({ onData: () => undefined })
    const ended = new AbortController()
    const sending = smtpMailer(`smtp://127.0.0.1:${port}`, FROM, now).send(mail, ended.signal)
    setTimeout(() => ended.abort(), 200)
    await expect(sending).rejects.toBeDefined()
  })

  test('a line break in a name or address adds no header and no receiver', async () => {
    const { port, received } = await aServer()
    const evil = renderMail(
      { subject: 'Hi\r\nBcc: eve@example.com', name: 'Ada\r\n\r\n<script>', paragraphs: ['\r\n.\r\nMAIL FROM:<x@x>'] },
      'https://faultline.example.com',
    )
    await smtpMailer(`smtp://127.0.0.1:${port}`, FROM, now).send({ to: 'ada@example.com', ...evil })
    expect(received[0]?.to).toEqual(['ada@example.com'])
    expect(received[0]?.email.bcc ?? []).toEqual([])
    expect(received[0]?.email.subject).toBe('Hi Bcc: eve@example.com')
    expect(received[0]?.email.html).not.toContain('<script>')
    await smtpMailer(`smtp://127.0.0.1:${port}`, FROM, now)
      .send({ ...mail, to: 'ada@example.com, eve@example.com' })
      .catch(() => undefined)
    expect(received.flatMap(({ to }) => to)).not.toContain('eve@example.com')
  })
})

test('without a server it is a file that mail programs open', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-mails-'))
  try {
    const named: string[] = []
    await fileMailer(folder, FROM, now, (file) => named.push(file)).send(mail)
    const [file = ''] = readdirSync(join(folder, 'outbox'))
    expect(named).toEqual([join(folder, 'outbox', file)])
    const email = await PostalMime.parse(readFileSync(join(folder, 'outbox', file)))
    expect([email.subject, email.to?.[0]?.address]).toEqual([mail.subject, 'ada@example.com'])
    expect(email.text?.trim()).toBe(mail.text.trim())
  } finally {
    rmSync(folder, { recursive: true })
  }
})
