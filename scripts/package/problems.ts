/** A file of the package. */
export type PackageFile = { readonly path: string; readonly bytes: Buffer }

/** A quarter more than when they were set. Each release is downloaded and unpacked by every installation. */
export const LIMITS = { files: 2_400, unpackedBytes: 13_500_000, packedBytes: 4_600_000 } as const

const REFUSED_NAMES =
  /(?:\.(?:ts|tsx|map|pem|key|env)|\.(?:test|fixture)\.[cm]?js|(?:^|\/)(?:\.env.*|node_modules|test|bench)(?:\/.*)?)$/
const SECRETS = /-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}|\bghp_[A-Za-z0-9]{36}\b|\bAKIA[0-9A-Z]{16}\b/

/**
 * Faults of the files of a package, one sentence each.
 * @param foreign texts that no file may contain, such as paths of the machine that built it
 */
export function packageProblems(files: readonly PackageFile[], foreign: readonly string[]): string[] {
  const problems = files.flatMap(({ path, bytes }) => {
    if (REFUSED_NAMES.test(path)) return [`${path} is no file of the product`]
    const text = bytes.toString('latin1')
    const name = foreign.find((one) => text.includes(one))
    return [
      ...(name === undefined ? [] : [`${path} names ${name}`]),
      ...(SECRETS.test(text) ? [`${path} holds what looks like a secret`] : []),
      ...(/\.[cm]?js$/.test(path) && /^\/\/# sourceMappingURL=/m.test(text) ? [`${path} names a source map`] : []),
    ]
  })
  const bytes = files.reduce((sum, one) => sum + one.bytes.length, 0)
  if (files.length > LIMITS.files) problems.push(`${files.length} files, ${LIMITS.files} at most`)
  if (bytes > LIMITS.unpackedBytes) problems.push(`${bytes} bytes, ${LIMITS.unpackedBytes} at most`)
  return problems
}
