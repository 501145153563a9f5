import type { Config } from '../../config/config.ts'
import { compareObjects, hasMovedBodies } from '../../events/store/bodies.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { ObjectStore } from '../../platform/objects/object-store.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { type Finding, note, ok, problem, reasonText } from './finding.ts'

const PART = 'object storage'
/** One that hangs must not hold up the other checks. */
const LIMITS = { attempts: 2, timeoutMs: 10_000 }

/** Whether the key may write, read, list and delete where backups and bodies of events are. */
export async function checkStores({ backup, blocks, s3 }: Config, clock: Clock): Promise<Finding[]> {
  if (s3 === null) return []
  const addresses = [backup.folder, blocks.url].filter((one) => one?.startsWith('s3:') === true)
  return Promise.all(addresses.map((address) => checkStore(new ObjectStore(address ?? '', s3, { clock, ...LIMITS }))))
}

async function checkStore(store: ObjectStore): Promise<Finding> {
  const probe = `doctor/${newId()}`
  const body = Buffer.from(probe)
  try {
    await store.put(probe, body)
    const [read, listed] = await readProbe(store, probe)
    return read?.equals(body) === true && listed.length === 1
      ? ok(PART, `${store.name} can be written, read and listed`)
      : problem(PART, `${store.name} does not return what was written. What is stored there is not safe.`)
  } catch (error) {
    return problem(PART, `${store.name}: ${reasonText(error)}`)
  }
}

async function readProbe(store: ObjectStore, probe: string) {
  try {
    return [await store.get(probe), await store.list(probe)] as const
  } finally {
    await store.remove(probe)
  }
}

/** The advice when bodies of events are in object storage that no setting names; null when all is well. */
export async function missingStoreText(db: Connection, { blocks }: Pick<Config, 'blocks'>): Promise<string | null> {
  if (blocks.url !== null || !(await hasMovedBodies(db))) return null
  return 'Bodies of old events are in object storage, and BLOCKS_URL is not set: they cannot be read, and erasures wait. Set it again, with the key of the store.'
}

/** Whether the store of bodies is the one that the database refers to, from its settings alone. */
export async function checkBodiesPlace(db: Connection, config: Pick<Config, 'blocks'>): Promise<Finding | null> {
  const text = await missingStoreText(db, config)
  return text === null ? null : problem(PART, text)
}

/** Compares the objects in the store with those that the database refers to. */
export async function checkBodies(db: Connection, config: Config, clock: Clock): Promise<Finding | null> {
  const { blocks, s3 } = config
  if (blocks.url === null || s3 === null) return checkBodiesPlace(db, config)
  const store = new ObjectStore(blocks.url, s3, { clock, ...LIMITS })
  try {
    const { used, lost, unknown } = await compareObjects(db, store, clock.now())
    if (lost.length > 0)
      return problem(
        PART,
        `${store.name} has lost ${lost.length} of ${countedWord(used, 'object')} with bodies of events, and erasures may wait for them. Check BLOCKS_URL, or restore the objects; when they are lost for good, "bodies forget-lost" gives them up.`,
      )
    if (unknown.length > 0)
      return note(
        PART,
        `${store.name} has ${countedWord(unknown.length, 'object')} that the database does not know. "bodies delete-unknown" deletes them, if no other installation uses this prefix.`,
      )
    return used === 0 ? null : ok(PART, `${store.name} has all ${countedWord(used, 'object')} with bodies of events`)
  } catch (error) {
    return problem(PART, `${store.name}: ${reasonText(error)}`)
  }
}
