/**
 * The name of the file that a class is in. R8 writes `SourceFile` or `r8-map-id-…` into frames and keeps the name in the
 * mapping where it differs from the name that the class suggests (R8's documentation of Retrace, section "Source File").
 */
export function sourceFileName({
  className,
  known,
  reported,
  isOwn,
}: {
  /** The original class. */
  readonly className: string
  /** The name of the mapping, null or empty if it has none. */
  readonly known: string | null
  /** The name of the obfuscated frame. */
  readonly reported: string | null
  /** False if the code came from another class than the frame's. */
  readonly isOwn: boolean
}): string | null {
  if (known !== null && known !== '') return known
  // A build without R8's own names keeps true ones, also where a file has several classes.
  if (isOwn && reported !== null && /^[^:\s]+\.(?:java|kt|scala|groovy)$/u.test(reported)) return reported

  const simpleName = className.slice(className.lastIndexOf('.') + 1)
  const inner = simpleName.indexOf('$', 1)
  const outermost = inner < 0 ? simpleName : simpleName.slice(0, inner)
  if (reported !== null && reported.endsWith('.java')) return `${outermost}.java`
  // Kotlin puts functions outside classes into a class with this ending.
  if (outermost.length > 2 && outermost.endsWith('Kt')) return `${outermost.slice(0, -2)}.kt`
  return reported !== null && reported.endsWith('.kt') ? `${outermost}.kt` : `${outermost}.java`
}
