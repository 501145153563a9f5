import { compareObjects, forgetLost, type ObjectComparison } from '../../events/store/bodies.ts'
import type { App } from '../../platform/context/app.ts'
import { conflict, invalid, unavailable } from '../../platform/kernel/errors.ts'
import { countedWord } from '../../platform/kernel/value-text.ts'
import { ObjectStore, S3Error } from '../../platform/objects/object-store.ts'
import { withApp } from './with-app.ts'

/** Commands for bodies of events in object storage (docs/operator-commands.md), also beside the running service. */

export const checkBodiesCommand = (): Promise<void> =>
  inStore((_app, store, { used, lost, unknown }) =>
    Promise.resolve([
      `${store.name} has ${used - lost.length} of ${countedWord(used, 'object')} that the database refers to.`,
      ...lost.map(({ day, id }) => `  lost or changed: blocks/${day}/${id}`),
      `${countedWord(unknown.length, 'object')} there are unknown to the database.`,
      ...unknown.map((key) => `  unknown: ${key}`),
    ]),
  )

export const forgetLostCommand = ({ yes, all }: { readonly yes?: boolean; readonly all?: boolean }): Promise<void> =>
  inStore(async (app, store, { used, lost }) => {
    if (lost.length === 0) return ['No object is lost.']
    if (lost.length === used && all !== true)
      throw conflict(
        `${store.name} has none of ${countedWord(used, 'object')}. Check BLOCKS_URL. Add --all if they are lost for good.`,
      )
    const objects = `${lost.length} of ${countedWord(used, 'object')}`
    if (yes !== true)
      return [
        `Nothing is deleted yet: ${objects} are lost, and the events whose bodies were in them would be deleted. Restore the objects if you can, or add --yes.`,
      ]
    return [`Given up: ${objects}. Deleted: ${countedWord(await forgetLost(app, lost), 'event')}.`]
  })

export const deleteUnknownCommand = ({ yes }: { readonly yes?: boolean }): Promise<void> =>
  inStore(async (_app, store, { unknown }) => {
    if (yes !== true)
      return [
        `Nothing is deleted yet: ${countedWord(unknown.length, 'object')} would be. Add --yes if no other installation uses ${store.name}: they may be its bodies.`,
      ]
    for (const key of unknown) await store.remove(key)
    return [`Deleted: ${countedWord(unknown.length, 'object')}.`]
  })

/** @throws AppError when there is no store, or it does not answer */
function inStore(
  work: (app: App, store: ObjectStore, found: ObjectComparison) => Promise<readonly string[]>,
): Promise<void> {
  return withApp(async (app) => {
    const { blocks, s3 } = app.config
    if (blocks.url === null || s3 === null) throw invalid('BLOCKS_URL is not set.')
    const store = new ObjectStore(blocks.url, s3, { clock: app.clock })
    try {
      return await work(app, store, await compareObjects(app.db, store, app.clock.now()))
    } catch (error) {
      throw error instanceof S3Error ? unavailable(error.message) : error
    }
  })
}
