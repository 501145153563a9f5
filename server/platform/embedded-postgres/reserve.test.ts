import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { withFaultyFs } from '#test/kit/faulty-fs.ts'
import { fillReserve, keepReserve } from './start.ts'

const folder = mkdtempSync(join(tmpdir(), 'faultline-reserve-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('is written once, completely, and released', async () => {
  await fillReserve(folder)
  const { size, blocks, mtimeMs } = statSync(join(folder, 'reserve'))
  expect(size).toBe(48 * 1024 * 1024)
  // The file is not sparse.
  expect(blocks * 512).toBeGreaterThanOrEqual(size)
  await fillReserve(folder)
  expect(statSync(join(folder, 'reserve')).mtimeMs).toBe(mtimeMs)
  const reserve = keepReserve(folder)
  reserve.release()
  reserve.close()
  expect(existsSync(join(folder, 'reserve'))).toBe(false)
})

test('leaves no files when it cannot be written', async () => {
  for (let n = 1; n <= 3; n++) {
    const { error } = await withFaultyFs(n, 'ENOSPC', () => fillReserve(folder))
    if (error === null) rmSync(join(folder, 'reserve'))
    expect(readdirSync(folder)).toEqual([])
  }
})
