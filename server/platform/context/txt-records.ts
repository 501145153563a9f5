/**
 * The TXT records of a name, each as one text; empty when the name or its records do not exist.
 * @throws the error of the resolver when no name server answers
 */
export type ResolveTxt = (name: string) => Promise<string[]>
