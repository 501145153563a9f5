import type { Config } from '../../config.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ObjectStore } from '../../platform/objects/object-store.ts'
import { type Finding, ok, problem, reasonText } from './finding.ts'

/** One that hangs must not hold up the other checks. */
const LIMITS = { attempts: 2, timeoutMs: 10_000 }

/** Whether the key may write, read, list and delete where backups are; null without a bucket. */
export async function checkStores({ backup, s3 }: Config, clock: Clock): Promise<Finding | null> {
  if (s3 === null || backup.folder?.startsWith('s3:') !== true) return null
  const part = 'object storage'
  const store = new ObjectStore(backup.folder, s3, { clock, ...LIMITS })
  const probe = `doctor/${newId()}`
  const body = Buffer.from(probe)
  try {
    await store.put(probe, body)
    const read = await store.get(probe)
    const listed = await store.list(probe)
    await store.remove(probe)
    return read?.equals(body) === true && listed.length === 1
      ? ok(part, `${store.name} can be written, read and listed`)
      : problem(part, `${store.name} does not return what was written. Backups there are not safe.`)
  } catch (error) {
    return problem(part, `${store.name}: ${reasonText(error)}`)
  }
}
