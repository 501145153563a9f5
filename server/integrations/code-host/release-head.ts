import { parseVersion } from '../../projects/releases/version.ts'

/** Which commit a release was built from. Pure. */

type Tag = { readonly tag: string; readonly sha: string }

const SHA = /^[0-9a-f]{7,64}$/i

/**
 * From the ref that was given with it, from a version that is a hash or ends in one, or from a tag with its version: `4.12.0`
 * and `com.acme.shop@4.12.0+41201` are the release of the tags `4.12.0`, `v4.12.0` and `shop@4.12.0`.
 * @returns null when nothing names a commit, or tags of several packages could be meant
 */
export function headOfRelease(
  release: { readonly version: string; readonly ref: string | null },
  tags: readonly Tag[],
): string | null {
  const { version, ref } = release
  if (ref !== null && /^[0-9a-f]{40,64}$/i.test(ref)) return ref.toLowerCase()
  const last = version.slice(Math.max(version.lastIndexOf('@'), version.lastIndexOf('+')) + 1)
  if (/^[0-9a-f]{40}$/i.test(last) || (SHA.test(version) && /[a-f]/i.test(version))) return last.toLowerCase()
  const exact = tags.find(({ tag }) => tag === version || tag === ref || ref === `refs/tags/${tag}`)
  if (exact !== undefined) return exact.sha
  const bare = bareOf(version)
  const same = tags.filter(({ tag }) => bareOf(tag) === bare)
  return new Set(same.map(({ sha }) => sha)).size === 1 ? (same[0]?.sha ?? null) : null
}

/** Without package, build and a leading v: `com.acme@v4.12.0+7` → `4.12.0`. */
function bareOf(name: string): string {
  const withoutPackage = name.slice(name.lastIndexOf('@') + 1)
  const bare = parseVersion(name) === null ? withoutPackage : (withoutPackage.split('+')[0] ?? withoutPackage)
  return bare.replace(/^(?:release[-/])?v(?=\d)/i, '').toLowerCase()
}
