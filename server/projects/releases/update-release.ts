import { isDeepStrictEqual } from 'node:util'
import { type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { WholeRelease } from './releases.api.ts'
import { lockRelease, updateReleaseRow } from './releases.queries.ts'
import { aboutRelease } from './ensure-release.ts'
import { viewRelease } from './view-release.ts'

type UpdateReleaseInput = {
  readonly releaseId: string
  readonly released_at?: string | null | undefined
  readonly state?: 'open' | 'archived' | undefined
  readonly url?: string | null | undefined
  readonly ref?: string | null | undefined
}

const CHANGEABLE = ['released_at', 'state', 'url', 'ref'] as const

/** Absent fields keep their value, null clears it. A date opens a planned release. @throws AppError not_found */
export async function updateRelease(app: App, actor: OrgActor, input: UpdateReleaseInput): Promise<WholeRelease> {
  return app.tx(async (tx) => {
    const release = await lockRelease(tx, actor.orgId, input.releaseId)
    if (release === null) throw notFound('Release')
    const dated = typeof input.released_at === 'string'
    const row = await updateReleaseRow(tx, release.id, {
      released_at:
        input.released_at === undefined
          ? release.released_at
          : input.released_at === null
            ? null
            : new Date(input.released_at),
      state: input.state ?? (dated && release.state === 'planned' ? 'open' : release.state),
      url: input.url === undefined ? release.url : input.url,
      ref: input.ref === undefined ? release.ref : input.ref,
    })
    const fields = CHANGEABLE.filter((field) => !isDeepStrictEqual(row[field], release[field]))
    if (fields.length > 0)
      await recordFacts(tx, factContext(app, actor), [
        { kind: 'release.updated', ...aboutRelease(actor, release), data: { fields } },
      ])
    return viewRelease(tx, row)
  })
}
