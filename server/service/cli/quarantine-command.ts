import { orgBySlug } from '../../identity/auth/auth.queries.ts'
import { retryQuarantined } from '../../ingest/digest/retry-quarantined.ts'
import {
  countQuarantined,
  deleteAllQuarantined,
  groupQuarantined,
  type QuarantineFilter,
} from '../../ingest/spool/spool.queries.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid, notFound } from '../../platform/kernel/errors.ts'
import { countedWord, bytesText } from '../../platform/kernel/value-text.ts'
import { readProjectBySlug } from '../../projects/registry/projects.queries.ts'
import { withApp } from './with-app.ts'

/** Commands for requests in quarantine (docs/operator-commands.md), also beside the running service, which digests them. */

type Place = { readonly org?: string; readonly project?: string }
type Choice = Place & { readonly all?: boolean }

export const listQuarantineCommand = (place: Place): Promise<void> =>
  withApp(async (app) => {
    const groups = await groupQuarantined(app.db, await inPlace(app, place))
    if (groups.length === 0) return 'The quarantine is empty.'
    return groups.flatMap(({ orgSlug, projectSlug, reason, requests, bytes, firstId, lastId, oldest, newest }) => [
      `${orgSlug}/${projectSlug}: ${countedWord(requests, 'request')}, ${bytesText(bytes)}, received ${span(oldest, newest)}, ${firstId === lastId ? `id ${firstId}` : `ids ${firstId} to ${lastId}`}`,
      `  ${reason}`,
    ])
  })

export const retryQuarantineCommand = (ids: readonly number[], choice: Choice): Promise<void> =>
  withApp(async (app) => {
    const filter = await chosen(app, ids, choice)
    const { moved, unreadable } = await retryQuarantined(app, filter, new AbortController().signal)
    return [
      ...(unreadable === 0 ? [] : [`${countedWord(unreadable, 'request')} cannot be read any more, and stay.`]),
      moved === 0
        ? 'Nothing was moved.'
        : `${countedWord(moved, 'request')} wait to be digested again. What fails again returns to quarantine.`,
    ]
  })

export const deleteQuarantineCommand = (
  ids: readonly number[],
  choice: Choice & { readonly yes?: boolean },
): Promise<void> =>
  withApp(async (app) => {
    const filter = await chosen(app, ids, choice)
    if (choice.yes === true) return `Deleted: ${countedWord(await deleteAllQuarantined(app.db, filter), 'request')}.`
    const requests = await countQuarantined(app.db, filter)
    return `Nothing is deleted yet: ${countedWord(requests, 'request')} would be. Add --yes to delete them.`
  })

/** @throws AppError unless exactly one choice is made */
async function chosen(app: App, ids: readonly number[], { all, ...place }: Choice): Promise<QuarantineFilter> {
  const choices = [ids.length > 0, place.org !== undefined || place.project !== undefined, all === true]
  if (choices.filter(Boolean).length !== 1) throw invalid('Name ids, or --org and --project, or --all.')
  return ids.length > 0 ? { ids } : inPlace(app, place)
}

/** @throws AppError when only one of both is named, or it does not exist */
async function inPlace(app: App, { org, project }: Place): Promise<QuarantineFilter> {
  if (org === undefined && project === undefined) return {}
  if (org === undefined || project === undefined) throw invalid('Name both --org and --project.')
  const orgId = (await orgBySlug(app.db, org))?.id
  if (orgId === undefined) throw notFound(`Organisation ${org}`)
  const found = await readProjectBySlug(app.db, orgId, project)
  if (found === null) throw notFound(`Project ${project}`)
  return { projectId: found.id }
}

const minute = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
const span = (from: Date, to: Date): string =>
  minute(from) === minute(to) ? minute(from) : `${minute(from)} to ${minute(to)}`
