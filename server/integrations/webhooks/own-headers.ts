import { z } from 'zod'
import type { Opener, Sealer } from '../../platform/storage/seal.ts'
import type { OwnHeader } from '#shared/webhook-headers.ts'
import { headersPlace } from './secrets.ts'

const Stored = z.array(z.tuple([z.string(), z.string()]))

/** Null for no headers. */
export const sealHeaders = (
  sealer: Sealer,
  orgId: string,
  endpointId: string,
  headers: readonly OwnHeader[],
): string | null =>
  headers.length === 0
    ? null
    : sealer.seal(
        Buffer.from(JSON.stringify(headers.map(({ name, value }) => [name, value]))),
        headersPlace(orgId, endpointId),
      )

export const openHeaders = (
  opener: Opener,
  orgId: string,
  endpointId: string,
  sealed: string | null,
): readonly OwnHeader[] =>
  sealed === null
    ? []
    : Stored.parse(JSON.parse(opener.open(sealed, headersPlace(orgId, endpointId)).toString())).map(
        ([name, value]) => ({ name, value }),
      )
