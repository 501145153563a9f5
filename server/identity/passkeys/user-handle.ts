/** How authenticators know a user: the 16 bytes of the id, base64url. */
export const userHandle = (userId: string): string =>
  Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url')
