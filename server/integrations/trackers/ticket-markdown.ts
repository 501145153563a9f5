import type { TicketText } from './tracker.ts'

/** The text of a ticket in Markdown. @param escape makes a value of an event plain text, on one line */
export const writeMarkdown = (
  { paragraphs, facts, frames, link }: TicketText,
  escape: (text: string) => string = escapeTicketText,
): string =>
  [
    ...paragraphs.map(escape),
    facts.map(([label, value]) => `- **${label}:** ${escape(value)}`).join('\n'),
    ...(frames.length === 0 ? [] : [`\`\`\`\n${frames.join('\n').replaceAll('```', "'''")}\n\`\`\``]),
    `[${link.label}](${link.url})`,
  ].join('\n\n')

/** Text in which Markdown finds no markup. */
export const escapeTicketText = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>()#+!|~@-]/g, (character) => `\\${character}`).replaceAll(/\s+/g, ' ')

const WORD_JOINER = '\u2060'
/**
 * Signs of mentions, references, labels and milestones, and the slash of a command. A backslash does not help: code hosts look for them in
 * the rendered text, and for commands in lines of the source.
 */
const SIGNS = /[@#!~%$&^]|GH-|(?<=^\s*)\//gi

/** Text in which a code host finds no mention, reference or command: a joiner that cannot be seen follows each sign. */
export const withoutReferences = (text: string): string => text.replaceAll(SIGNS, (sign) => `${sign}${WORD_JOINER}`)
