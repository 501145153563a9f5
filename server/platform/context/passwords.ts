/** Password hashing, part of the App so that tests can lower its cost and count the calls. */
export type PasswordHasher = {
  /**
   * @returns PHC string (`$argon2id$…`) with a fresh salt
   * @throws AppError rate_limited when too many hashes are waiting
   */
  hash(password: string): Promise<string>
  /**
   * Whether the password belongs to the hash; `null` stands for an account that does not exist and costs the same.
   * @throws AppError rate_limited when too many hashes are waiting
   */
  verify(hash: string | null, password: string): Promise<boolean>
  /**
   * The hash of a random code, at a fixed lower cost: equal codes of one salt have equal hashes, so that one hash finds a
   * code among many.
   * @returns 32 bytes
   * @throws AppError rate_limited when too many hashes are waiting
   */
  hashCode(code: string, salt: Buffer): Promise<Buffer>
  /** How many hashes were computed since the start, of passwords and codes. */
  computed(): number
  /** Whether a hash was made with a lower cost than today's. */
  isOutdated(hash: string): boolean
}
