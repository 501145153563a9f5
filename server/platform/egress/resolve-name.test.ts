import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createSystemResolver } from './resolve-name.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

type Answer = { readonly a?: string; readonly aaaa?: string } | 'unknown' | 'failure' | 'silence'

/** A DNS server; names that are not listed are unknown. */
async function dnsServer(names: Readonly<Record<string, Answer>>): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const labels: string[] = []
    let at = 12
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
    const name = labels.join('.')
    const type = query.readUInt16BE(at + 1)
    asked.push(name)
    const answer = names[name] ?? 'unknown'
    if (answer === 'silence') return
    const text = typeof answer === 'string' ? undefined : type === 1 ? answer.a : answer.aaaa
    const data = text === undefined ? undefined : type === 1 ? text.split('.').map(Number) : groups(text)
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(0x8180 | (answer === 'unknown' ? 3 : answer === 'failure' ? 2 : 0), 2)
    header.writeUInt16BE(data === undefined ? 0 : 1, 6)
    header.writeUInt32BE(0, 8)
    const record = data === undefined ? [] : [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 9, 0, data.length, ...data]
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), Buffer.from(record)]), from.port, from.address)
  })
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve)
  })
  closers.push(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

/** The bytes of an IPv6 address without `::`. */
const groups = (text: string): number[] =>
  text.split(':').flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })

function hostsFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-hosts-'))
  closers.push(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'hosts'), text)
  return join(folder, 'hosts')
}

test('a name has all of its addresses, IPv4 first', async () => {
  const server = await dnsServer({
    'both.example.com': { a: '192.0.2.7', aaaa: '2001:db8:0:0:0:0:0:7' },
    'four.example.com': { a: '192.0.2.8' },
    'six.example.com': { aaaa: '2001:db8:0:0:0:0:0:9' },
  })
  const resolve = createSystemResolver({ servers: [server.address] })
  expect(await resolve('both.example.com')).toEqual(['192.0.2.7', '2001:db8::7'])
  expect(await resolve('four.example.com')).toEqual(['192.0.2.8'])
  expect(await resolve('six.example.com')).toEqual(['2001:db8::9'])
})

test('the system answers for names without a dot, names of the hosts file, and names the DNS does not know', async () => {
  const server = await dnsServer({ 'listed.example.com': { a: '192.0.2.1' }, 'empty.example.com': {} })
  const bySystem = (name: string): Promise<string[]> => Promise.resolve([`system:${name}`])
  const resolve = createSystemResolver({
    servers: [server.address],
    hostsFile: hostsFile('# listed2.example.com\n10.0.0.1\tother Listed.Example.com # note\n'),
    bySystem,
  })
  for (const name of [
    'receiver',
    'listed.example.com',
    'LISTED.example.com',
    'nowhere.example.com',
    'empty.example.com',
  ])
    expect(await resolve(name)).toEqual([`system:${name}`])
  expect(new Set(server.asked)).toEqual(new Set(['nowhere.example.com', 'empty.example.com']))
})

test('a failure of the DNS is an error of the name', async () => {
  const server = await dnsServer({ 'broken.example.com': 'failure' })
  const resolve = createSystemResolver({ servers: [server.address], bySystem: () => expect.unreachable() })
  await expect(resolve('broken.example.com')).rejects.toMatchObject({ code: 'ESERVFAIL' })
})

test('a name server that is silent delays no other name', async () => {
  const server = await dnsServer({ 'silent.example.com': 'silence', 'good.example.com': { a: '192.0.2.1' } })
  const resolve = createSystemResolver({ servers: [server.address] })
  const silent = resolve('silent.example.com').catch((error: unknown) => error)
  expect(await Promise.race([silent, resolve('good.example.com')])).toEqual(['192.0.2.1'])
  expect(await silent).toMatchObject({ code: 'ETIMEOUT' })
})

test('names that the DNS does not know wait for each other, and for them alone; only so many wait', async () => {
  const server = await dnsServer({ 'good.example.com': { a: '192.0.2.1' } })
  const { promise, resolve: answer } = Promise.withResolvers<string[]>()
  let atOnce = 0
  const resolve = createSystemResolver({
    servers: [server.address],
    bySystem: (name) => {
      if (name === 'receiver') return Promise.resolve(['10.0.0.9'])
      atOnce += 1
      expect(atOnce).toBe(1)
      return promise.finally(() => (atOnce -= 1))
    },
  })
  const outcomes = Array.from({ length: 120 }, (_, index) =>
    resolve(`unknown-${index}.example.com`).catch((error: unknown) => error),
  )
  const refused = await Promise.race(outcomes)
  expect(refused).toMatchObject({ code: 'ENOTFOUND' })
  expect(await resolve('good.example.com')).toEqual(['192.0.2.1'])
  expect(await resolve('receiver')).toEqual(['10.0.0.9'])
  answer(['10.0.0.1'])
  const ended = await Promise.all(outcomes)
  expect(ended.filter((outcome) => Array.isArray(outcome))).toHaveLength(100)
})

test('one look-up serves all who ask for the name while it runs', async () => {
  const server = await dnsServer({ 'good.example.com': { a: '192.0.2.1' } })
  const resolve = createSystemResolver({ servers: [server.address] })
  await Promise.all(Array.from({ length: 20 }, () => resolve('good.example.com')))
  expect(server.asked).toHaveLength(2)
  await resolve('good.example.com')
  expect(server.asked).toHaveLength(4)
})
