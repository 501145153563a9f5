import { expect, test } from 'vitest'
import { toInitials } from './avatar.tsx'

test.each([
  ['Ines Köhler', 'IK'],
  ['ines', 'I'],
  ['Ana Maria de Souza', 'AS'],
  ['  Robin  V. ', 'RV'],
  ['李 小龙', '李小'],
  ['😀 Smile', '😀S'],
  ['', '?'],
])('initials of %s', (name, initials) => expect(toInitials(name)).toBe(initials))
