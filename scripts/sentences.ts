/** Rules for comments, names of functions and commit subjects (CONTRIBUTING.md, rule 8 and commit messages). Used by check-words.ts. */
import { spawnSync } from 'node:child_process'

/** Comments of code; a table in Markdown may begin a cell as it likes. */
const CODE = /\.(?:ts|tsx|js|mjs|css|sql)$/
/** Frozen text: released migrations and grouping versions never change. */
const FROZEN =
  /^migrations\/00[0-3]\d|^migrations\/0040|^server\/issues\/grouping\/v2|^server\/events\/protocol\/sdk-frames\.ts/

/** The first words of a comment, or of a paragraph or a tag in one. */
const OPENING =
  /(?:\/\/|\/\*\*?|--)\s+(Of|Those|What) [a-z]|^\s*\*\s+(Of|Those|What) [a-z]|\*\s+@\w+ (?:\w+ )?(Of|Those|What) [a-z]/
const COMMENT = /(?:^|\s)(?:\/\/|\/\*\*?|\*|--)\s.*\bthat of\b/
/** A line of a block comment that continues the sentence of the line before. */
const UNFINISHED = /[^.:;*/]\s*$/

/** Comments that begin with a word that stands for a noun, or lean on "that" with "of". */
export function findComments(path: string, text: string): string[] {
  if (!CODE.test(path) || FROZEN.test(path)) return []
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const opening = OPENING.exec(line)
    const word = opening?.[1] ?? opening?.[2] ?? opening?.[3]
    const continues =
      opening?.[2] !== undefined &&
      /^\s*\*\s+\S/.test(lines[index - 1] ?? '') &&
      UNFINISHED.test(lines[index - 1] ?? '')
    if (word !== undefined && !continues)
      return [`${path}:${index + 1}: a comment begins with "${word}"; name the subject instead`]
    return COMMENT.test(line) ? [`${path}:${index + 1}: a comment has "that of"; repeat the noun`] : []
  })
}

/** Functions only: a constant is a noun. */
const EXPORTED = /^export (?:(?:async )?function\*? (\w+)|const (\w+)(?::[^=]+)? = (?:async )?(?:<|\(|\w+ =>))/gm
/** A name that begins so says what the function does; two domains may both have a `readMessage`. */
const VERB =
  /^(?:add|acknowledge|answer|apply|assign|audit|await|begin|bind|build|cancel|change|check|choose|claim|clear|close|code|compare|compile|complete|confirm|continue|count|create|cut|decide|decode|delete|describe|draw|encode|end|enqueue|erase|evaluate|expand|explain|export|find|finish|fire|flush|fold|forget|format|get|group|guard|has|hash|hide|ignore|index|insert|is|join|judge|keep|limit|link|list|load|lock|log|make|map|mark|match|measure|merge|move|name|normalize|normalise|notify|offer|open|pack|page|parse|pick|plan|prepare|preview|provide|publish|purge|put|quote|read|record|redeem|refresh|refuse|register|release|remove|rename|render|replay|report|require|reset|resolve|restore|rotate|run|save|scrub|seal|search|select|send|serve|set|settle|show|sign|sort|split|start|stop|store|subscribe|sum|sweep|take|test|toggle|touch|trim|try|undo|unsubscribe|update|use|validate|verify|view|walk|watch|with|write|[A-Z])/

/** Exported functions whose name ends in `Of`, and nouns that two files of one side export. */
export function findNames(sources: ReadonlyMap<string, string>): string[] {
  const homes = new Map<string, string>()
  const problems: string[] = []
  for (const [path, text] of sources) {
    if (!/^(?:server|web|shared)\/.*\.tsx?$/.test(path) || /\.(?:test|fixture)\./.test(path) || FROZEN.test(path))
      continue
    for (const match of text.matchAll(EXPORTED)) {
      const name = match[1] ?? match[2] ?? ''
      if (/[a-z]Of$/.test(name)) problems.push(`${path}: exports ${name}; give it a verb, or a noun of its own`)
      const key = `${path.slice(0, path.indexOf('/'))}/${name}`
      const other = homes.get(key)
      if (other !== undefined && other !== path && !VERB.test(name))
        problems.push(`${path}: exports ${name}, as ${other} does; a noun is exported once`)
      homes.set(key, path)
    }
  }
  return problems
}

/** The rule holds for commits after this one. */
const RULE_SINCE = 'feb1aca7'

/** Subjects of the commits since the rule; none where git or the commit is missing, as in a package. */
export function commitSubjects(root: string): string[] {
  const { status, stdout } = spawnSync('git', ['log', '--format=%s', `${RULE_SINCE}..HEAD`], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : []
}

/** Subjects with more than one change, or without the module that changed. */
export const findSubjects = (subjects: readonly string[]): string[] =>
  subjects.flatMap((subject) => {
    if (subject.includes(';')) return [`commit "${subject}": one change per subject, no semicolon`]
    return /^[a-z0-9][\w ,/.-]*: \S/.test(subject) ? [] : [`commit "${subject}": begin with the module that changed`]
  })
