/**
 * Characters beside control characters that a terminal obeys, as the inside of a character class: marks that turn the
 * direction of writing, and separators of lines and paragraphs.
 */
export const unsafeMarks = String.raw`\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069`;
