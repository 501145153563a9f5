import type { SpoolEntry } from './entry.ts'

/** An entry of the spool for tests; given fields replace the defaults. */
export const spoolEntry = (
  fields: Partial<Omit<SpoolEntry, 'body'>> & Pick<SpoolEntry, 'receivedAtMs'> & { readonly body: Buffer | string },
): SpoolEntry => ({
  projectId: '01890000-0000-7000-8000-000000000001',
  projectNumber: 4,
  keyId: '01890000-0000-7000-8000-000000000002',
  endpoint: 'envelope',
  encoding: 'none',
  clientIp: null,
  userAgent: null,
  origin: null,
  sdkClient: null,
  eventId: null,
  dropped: [],
  ...fields,
  body: Buffer.from(fields.body),
})
