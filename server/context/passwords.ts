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
  /** Whether a hash was made with a lower cost than today's. */
  isOutdated(hash: string): boolean
}
