/** The kind of a file by its name, and the form that uploads it. Pure. */

export type UploadKind = 'js_source_map' | 'proguard' | 'native'

/** By the ending of the name: `.map`, `.txt`, anything else. */
export function kindOfFile(name: string): UploadKind {
  if (/\.map(?:\.json)?$/iu.test(name)) return 'js_source_map'
  return /\.txt$/iu.test(name) ? 'proguard' : 'native'
}

/** Address and form of an upload. */
export function buildForm(
  projectId: string,
  file: File,
  release: string,
): { readonly address: string; readonly form: FormData } {
  const kind = kindOfFile(file.name)
  const form = new FormData()
  const base = `/api/projects/${projectId}`
  if (kind !== 'native') {
    form.set('symbolication_type', kind)
    if (release.trim() !== '') form.set('release', release.trim())
    form.set('filename', file.name)
  }
  form.set('file', file)
  return { address: `${base}/${kind === 'native' ? 'dsyms' : 'source-maps'}`, form }
}
