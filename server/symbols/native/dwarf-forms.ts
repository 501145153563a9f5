import type { Cursor } from './cursor.ts'
import { FORM } from './dwarf-codes.ts'

/** How the numbers of a unit are written: the size of addresses, and of offsets (8 in the 64-bit format). */
export type UnitFormat = { readonly version: number; readonly addressSize: number; readonly offsetSize: number }

/**
 * Reads an attribute as a number (DWARF 5, 7.5.5): a constant, an address, an offset or an index. Blocks are skipped.
 * An inline string is its position in the cursor's buffer.
 *
 * @param implicit the value that the abbreviation itself holds
 */
export function readForm(cursor: Cursor, form: number, format: UnitFormat, implicit: number): number {
  switch (form) {
    case FORM.data1:
    case FORM.flag:
    case FORM.ref1:
    case FORM.strx1:
    case FORM.addrx1:
      return cursor.u8()
    case FORM.data2:
    case FORM.ref2:
    case FORM.strx2:
    case FORM.addrx2:
      return cursor.u16()
    case FORM.strx3:
    case FORM.addrx3:
      return cursor.u24()
    case FORM.data4:
    case FORM.ref4:
    case FORM.strx4:
    case FORM.addrx4:
    case FORM.refSup4:
      return cursor.u32()
    case FORM.data8:
    case FORM.ref8:
    case FORM.refSup8:
    case FORM.refSig8:
      return cursor.u64()
    case FORM.addr:
      return cursor.unsigned(format.addressSize)
    case FORM.sdata:
      return cursor.sleb()
    case FORM.udata:
    case FORM.refUdata:
    case FORM.strx:
    case FORM.addrx:
    case FORM.loclistx:
    case FORM.rnglistx:
    case FORM.gnuAddrIndex:
    case FORM.gnuStrIndex:
      return cursor.uleb()
    case FORM.strp:
    case FORM.lineStrp:
    case FORM.secOffset:
    case FORM.strpSup:
    case FORM.gnuRefAlt:
    case FORM.gnuStrpAlt:
      return cursor.unsigned(format.offsetSize)
    case FORM.refAddr:
      return cursor.unsigned(format.version < 3 ? format.addressSize : format.offsetSize)
    case FORM.flagPresent:
      return 1
    case FORM.implicitConst:
      return implicit
    case FORM.string: {
      const { at } = cursor
      cursor.skipText()
      return at
    }
    case FORM.block1:
      return skipBlock(cursor, cursor.u8())
    case FORM.block2:
      return skipBlock(cursor, cursor.u16())
    case FORM.block4:
      return skipBlock(cursor, cursor.u32())
    case FORM.block:
    case FORM.exprloc:
      return skipBlock(cursor, cursor.uleb())
    case FORM.data16:
      return skipBlock(cursor, 16)
    default:
      throw new RangeError(`an unknown form ${form}`)
  }
}

function skipBlock(cursor: Cursor, length: number): number {
  cursor.skip(length)
  return 0
}

/** @returns the number of bytes of a form that always has the same, or -1 */
export function fixedSize(form: number, { addressSize, offsetSize, version }: UnitFormat): number {
  switch (form) {
    case FORM.flagPresent:
    case FORM.implicitConst:
      return 0
    case FORM.data1:
    case FORM.flag:
    case FORM.ref1:
    case FORM.strx1:
    case FORM.addrx1:
      return 1
    case FORM.data2:
    case FORM.ref2:
    case FORM.strx2:
    case FORM.addrx2:
      return 2
    case FORM.data4:
    case FORM.ref4:
    case FORM.strx4:
    case FORM.addrx4:
      return 4
    case FORM.data8:
    case FORM.ref8:
    case FORM.refSig8:
      return 8
    case FORM.data16:
      return 16
    case FORM.addr:
      return addressSize
    case FORM.strp:
    case FORM.lineStrp:
    case FORM.secOffset:
      return offsetSize
    case FORM.refAddr:
      return version < 3 ? addressSize : offsetSize
    default:
      return -1
  }
}
