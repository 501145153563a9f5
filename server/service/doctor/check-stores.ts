import type { Config } from '../../config.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ObjectStore } from '../../platform/objects/object-store.ts'
import { type Finding, ok, problem, reasonText } from './finding.ts'

/** One that hangs must not hold up the other checks. */
const LIMITS = { attempts: 2, timeoutMs: 10_000 }

/** Whether the key may write, read, list and delete where backups and bodies of events are. */
export async function checkStores({ backup, blocks, s3 }: Config, clock: Clock): Promise<Finding[]> {
  if (s3 === null) return []
  const addresses = [backup.folder, blocks.url].filter((one) => one?.startsWith('s3:') === true)
  return Promise.all(addresses.map((address) => checkStore(new ObjectStore(address ?? '', s3, { clock, ...LIMITS }))))
}

async function checkStore(store: ObjectStore): Promise<Finding> {
  const part = 'object storage'
  const probe = `doctor/${newId()}`
  const body = Buffer.from(probe)
  try {
    await store.put(probe, body)
    const [read, listed] = await readProbe(store, probe).finally(async () => {
      await store.remove(probe)
    })
    return read?.equals(body) === true && listed.length === 1
      ? ok(part, `${store.name} can be written, read and listed`)
      : problem(part, `${store.name} does not return what was written. What is stored there is not safe.`)
  } catch (error) {
    return problem(part, `${store.name}: ${reasonText(error)}`)
  }
}

const readProbe = async (store: ObjectStore, probe: string) =>
  [await store.get(probe), await store.list(probe)] as const
