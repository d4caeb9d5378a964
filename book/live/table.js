/* A table of rewards from the text of a CSV file: columns are arms, rows are observations. */
window.LDPBO_TABLE = (() => {
  "use strict";

  /* Cells of a CSV text split at `mark`, quotes as in RFC 4180: [{row, line}], no empty rows. */
  function cells(text, mark) {
    const rows = [[]];
    let cell = "";
    let quoted = false;
    const endCell = () => {
      rows.at(-1).push(cell.trim());
      cell = "";
    };
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (quoted && c === '"' && text[i + 1] === '"') {
        cell += '"';
        i++;
      } else if (quoted && c === '"') {
        quoted = false;
      } else if (quoted) {
        cell += c;
      } else if (c === '"' && cell.trim() === "") {
        quoted = true;
        cell = "";
      } else if (c === mark) {
        endCell();
      } else if (c === "\n") {
        endCell();
        rows.push([]);
      } else if (c !== "\r") {
        cell += c;
      }
    }
    endCell();
    const numbered = rows.map((row, i) => ({ row, line: i + 1 }));
    return numbered.filter(({ row }) => row.some((c) => c !== ""));
  }

  /* The delimiter: the first of tab, ; and , that cuts every line into equally many cells; else the
     one that cuts the first line most. */
  function delimiter(text) {
    const even = ["\t", ";", ","].find((mark) => {
      const lines = cells(text, mark);
      const width = lines.length ? lines[0].row.length : 1;
      return width > 1 && lines.every(({ row }) => row.length === width);
    });
    if (even) return even;
    const first = text.split(/\r?\n/, 1)[0];
    const pieces = (mark) => first.split(mark).length;
    return [",", ";", "\t"].sort((a, b) => pieces(b) - pieces(a))[0];
  }

  /* A comma is the decimal sign if it does not delimit, some cell is such a number, and none of
     those below the first row has a point. */
  function decimalSign(lines, mark) {
    const some = (rows, pattern) => rows.some(({ row }) => row.some((c) => pattern.test(c)));
    const comma = mark !== "," && some(lines, /^[+-]?\d*,\d+(e[+-]?\d+)?$/i);
    return comma && !some(lines.slice(1), /^[+-]?\d*\.\d+$/) ? "," : ".";
  }

  /* A cell as a number; NaN if it is none. */
  function numberOf(cell, decimal) {
    const plain = decimal === "," ? cell.replace(",", ".") : cell;
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  }

  /* A table from CSV text. Errors name row and column as a spreadsheet counts them, the header
     being row 1. A first column without numbers, or one that counts up by 1, is left out; the
     latter only unless `keep`. */
  function parseTable(name, text, keep = false) {
    text = text.replace(/^\uFEFF/, "");
    if (text.includes("\0"))
      throw new Error(
        "This is not a text file. Save the table as CSV (UTF-8) and choose that file.",
      );
    const mark = delimiter(text);
    const lines = cells(text, mark);
    if (!lines.length) throw new Error("The file is empty.");
    if (lines[0].row.length < 2)
      throw new Error(
        "The file has one column; at least 2 arms are needed. " +
          "Columns are split at commas, semicolons or tabs.",
      );
    const decimal = decimalSign(lines, mark);
    const number = (cell) => numberOf(cell, decimal);
    const headed = !lines[0].row.every((cell) => Number.isFinite(number(cell)));
    const head = lines[0].row.map((c, j) => (headed && c) || `column ${j + 1}`);
    const body = headed ? lines.slice(1) : lines;
    checkShape(body, head, headed);
    const columnName = (j) => `column ${j + 1}${headed ? ` (“${head[j]}”)` : ""}`;
    const leading = body.map(({ row }) => number(row[0]));
    const labels = leading.every((x) => !Number.isFinite(x));
    const counts = !labels && leading.every((x, i) => x === leading[0] + i);
    const first = labels || (counts && !keep) ? 1 : 0;
    checkSize(body, head.length - first, first && counts, counts);
    const columns = head.slice(first);
    const samples = readSamples(body, first, number, columnName);
    return {
      name,
      text,
      columns,
      rows: body.length,
      samples,
      first,
      headed,
      mark,
      decimal,
      counts: counts ? columnName(0) : "",
    };
  }

  /* Every row must be as long as the first one, and there must be some. */
  function checkShape(body, head, headed) {
    for (const { row, line } of body) {
      const whose = headed ? "the header" : "the first row";
      if (row.length !== head.length)
        throw new Error(`Row ${line} has ${row.length} values, ${whose} has ${head.length}.`);
    }
    if (body.length < 3)
      throw new Error(`The file has ${body.length} rows of numbers; at least 3 are needed.`);
  }
  /* So many arms can be run here. */
  function checkSize(body, arms, leftOut, counts) {
    if (arms < 2) {
      const besides = leftOut ? " besides one that counts" : "";
      const error = new Error(
        `The file has ${arms} columns of numbers${besides}; at least 2 arms are needed.`,
      );
      throw Object.assign(error, { counts });
    }
    if (arms > 200 || body.length * arms > 400000)
      throw new Error(
        `The table has ${body.length} rows and ${arms} columns; ` +
          "at most 200 columns and 400,000 numbers fit here. Use the Python lines below.",
      );
  }
  /* The numbers of all columns from `first` on, row by row. */
  function readSamples(body, first, number, columnName) {
    const arms = body[0].row.length - first;
    const samples = new Float64Array(body.length * arms);
    body.forEach(({ row, line }, i) => {
      for (let j = 0; j < arms; j++) {
        const cell = row[j + first];
        const x = number(cell);
        if (!Number.isFinite(x)) {
          const why =
            cell === "" ? "the value is missing" : `“${cell.slice(0, 40)}” is not a number`;
          throw new Error(`Row ${line}, ${columnName(j + first)}: ${why}.`);
        }
        samples[i * arms + j] = x;
      }
    });
    for (let j = 0; j < arms; j++)
      if (body.every((_, i) => samples[i * arms + j] === samples[j]))
        throw new Error(
          `${columnName(j + first).replace(/^c/, "C")} is ${samples[j]} in every row from row ` +
            `${body[0].line} on; an arm that never varies has no correlation with the others.`,
        );
    return samples;
  }

  return { parseTable };
})();
