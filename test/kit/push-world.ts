import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { fakeExpo, type FakeExpo } from './fake-expo.ts'
import { fakeFcm, type FakeFcm } from './fake-fcm.ts'
import type { FakeClock } from './fake-clock.ts'

export type PushWorld = {
  readonly expo: FakeExpo
  readonly fcm: FakeFcm
  /** Settings that switch both on. */
  readonly env: Readonly<Record<string, string>>
  /** From now on the providers live in the time of the app. */
  follow(clock: FakeClock): void
}

/** Both providers of pushes, until the end of the file. Start them before the app, whose settings name them. */
export async function pushWorld(): Promise<PushWorld> {
  const closers: (() => Promise<void>)[] = []
  const onClose = (work: () => Promise<void>): void => void closers.push(work)
  let now = (): Date => new Date()
  const expo = await fakeExpo({ onClose })
  const fcm = await fakeFcm({ onClose, now: () => now() })
  const folder = mkdtempSync(join(tmpdir(), 'faultline-fcm-'))
  afterAll(async () => {
    for (const close of closers) await close()
    rmSync(folder, { recursive: true })
  })
  const account = join(folder, 'service-account.json')
  writeFileSync(account, fcm.serviceAccount)
  return {
    expo,
    fcm,
    env: { EXPO_BASE_URL: expo.url, FCM_SERVICE_ACCOUNT: account, FCM_BASE_URL: fcm.url },
    follow(clock) {
      now = () => clock.now()
    },
  }
}
