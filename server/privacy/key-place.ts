/** The place of a user's sealed id (storage/seal.ts). */
export const keyPlace = (projectId: string, userHash: number, orgId: string): string =>
  `erasures:user_key_sealed:${projectId}/${userHash}:${orgId}`
